# Figures: one rule each, named like the figure, numbered after those of the papers.


for number, (figure, entry) in enumerate(FIGURES.items(), start=len(papers.FIGURES) + 1):

    rule:
        name:
            figure
        input:
            tables=shown(entry),
        output:
            png=report(
                f"results/figures/{figure}.png",
                caption=f"../report/{figure}.rst",
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


rule network_figures:
    input:
        [f"results/figures/{figure}.{kind}" for figure in FIGURES for kind in papers.KINDS],
    localrule: True
