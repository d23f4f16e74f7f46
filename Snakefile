include: "workflow/Snakefile"


workflow.default_target = "all"  # the file that includes has the last word
