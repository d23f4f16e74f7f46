# Figures: one rule each, named like the figure; PNG for screens, PDF for papers.


for number, (figure, entry) in enumerate(FIGURES.items(), start=1):

    rule:
        name:
            figure
        input:
            tables=shown(entry),
        output:
            png=report(
                f"results/figures/{figure}.png",
                caption=str(caption_file(MAIN, figure, entry)),
                category="2. Figures",
                labels={"figure": f"{number:02} {entry.place}", "title": entry.title},
            ),
            pdf=f"results/figures/{figure}.pdf",
            csv=f"results/figures/{figure}.csv",
        log:
            f"results/logs/draw_figure/{figure}.log",
        localrule: True
        params:
            **given(
                "draw_figure",
                reads=shown(entry),
                loaded=[HERE / "scripts" / f"{entry.module.replace('.', '/')}.py"],
                figure=figure,
                tables=entry.tables,
            ),
        shell:
            step("draw_figure", model=None)


# `snakemake --cores 1 results/figures/gupta_fig3_top2/MODEL.png`: Gupta et al.'s graphs of any model
rule draw_calibration_graphs:
    input:
        tables=[table("calibration_graphs")],
    output:
        png="results/figures/{figure}/{model}.png",
        pdf="results/figures/{figure}/{model}.pdf",
        csv="results/figures/{figure}/{model}.csv",
    log:
        "results/logs/draw_figure/{figure}/{model}.log",
    wildcard_constraints:
        figure=one_of([name for name in FIGURES if name.startswith("gupta_")]),
        model=one_of([*REAL, *OTHERS]),
    localrule: True
    params:
        **given(
            "draw_figure",
            rule="draw_calibration_graphs",
            loaded=[HERE / "scripts/reproduction/figures/gupta_graphs.py"],
            figure="{figure}",
            model="{model}",
            tables=["calibration_graphs"],
        ),
    shell:
        step("draw_figure")
