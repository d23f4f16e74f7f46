.PHONY: networks train-networks
TRAINING := .venv-networks
NETWORK_CONFIGURATIONS = $(CURDIR)/networks/configs/*.yaml
PICTURE_CONFIGURATIONS = $(CURDIR)/networks/law/configs/*.yaml

## make networks         judge the papers' statements on networks of known truth (a minute)
networks: $(RUNTIME)/installed
	$(RUNTIME)/bin/snakemake --cores $(CORES) networks

# Writes networks/resources. An interrupted run goes on where it stopped.
## make train-networks   train these networks again (an hour of one core)
train-networks: $(TRAINING)/installed
	cd networks && \
	export PYTHONPATH=$(CURDIR)/scripts XLA_FLAGS=--xla_cpu_multi_thread_eigen=false && \
	$(CURDIR)/$(TRAINING)/bin/python -m trained.make --build $(CURDIR)/build/networks $(NETWORK_CONFIGURATIONS) $(PICTURE_CONFIGURATIONS) && \
	$(CURDIR)/$(TRAINING)/bin/python -m trained.ship --build $(CURDIR)/build/networks --output resources $(NETWORK_CONFIGURATIONS) && \
	$(CURDIR)/$(TRAINING)/bin/python -m trained.ship --build $(CURDIR)/build/networks --only-populations --output law/resources $(PICTURE_CONFIGURATIONS)

$(TRAINING)/installed: networks/requirements.lock envs/requirements-build.lock
	$(INSTALL)

lock::
	$(COMPILE) networks/requirements.in -o networks/requirements.lock

clean-environments::
	rm -rf $(TRAINING)
