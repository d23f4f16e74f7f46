# Figures: one rule each, named like the figure, numbered after those of the papers.

ON_DEMAND = ("league_full_errors", "multiclass_league_full")
DRAWN = FIGURES | {name: figures(GUEST)[name] for name in ON_DEMAND}


for number, (figure, entry) in enumerate(DRAWN.items(), start=len(papers.FIGURES) + 1):

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
