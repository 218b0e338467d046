# The launcher of several processes: options.py reads torchrun's command line, agent.py starts and
# watches the processes of one host, worker.py is what runs in each, report.py says what failed.
