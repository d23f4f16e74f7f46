#!/bin/sh
# Prints what became of the job with this id: running, success or failed. Written for Grid Engine.
# Without it Snakemake would wait for ever for a job that the scheduler killed.
# All that follows the next line may be replaced: for PBS (a job's end is kept for a day) by
#   qstat -x -f "$id" | awk '/job_state/ {s=$3} /Exit_status/ {e=$3}
#       END {print s != "F" ? "running" : e == "0" ? "success" : "failed"}'
# and for LSF by
#   case $(bjobs -noheader -o stat "$id") in DONE) echo success;; EXIT) echo failed;;
#       *) echo running;; esac
id=$1

case $(qstat -j "$id" 2>&1) in
    *"do not exist"*) ;; # it has left the queue: see below
    *"error reason"*) # it would stay there for ever
        qdel "$id" > /dev/null
        echo failed
        exit
        ;;
    *) # also where the scheduler cannot be asked at this moment
        echo running
        exit
        ;;
esac

# The record of a job that has ended appears some seconds later; of jobs with one id the last counts.
gone=.snakemake/left_the_queue_$id
what=$(qacct -j "$id" 2> /dev/null | awk '
    /^====/ { bad = 0 }
    $1 == "failed" || $1 == "exit_status" { seen = 1; if ($2 != 0) bad = 1 }
    END { if (seen) print bad ? "failed" : "success" }')
if [ -z "$what" ]; then
    [ -e "$gone" ] || touch "$gone"
    if [ -z "$(find "$gone" -mmin +10)" ]; then
        echo running
        exit
    fi
    what=failed # ten minutes, and no record
fi
rm -f "$gone"
echo "$what"
