.PHONY: evidence

## make evidence         check what calbias promises (half an hour)
evidence: $(RUNTIME)/installed
	$(RUNTIME)/bin/snakemake --cores $(CORES) evidence

lock::
	for peer in evidence/envs/peers/*.txt; do $(COMPILE) $$peer -o $${peer%.txt}.lock; done
