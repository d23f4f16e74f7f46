"""The types of the names that ``calbias`` loads on first use; see ``__init__.py``."""

from calbias.auditing.audit import audit as audit
from calbias.auditing.compare import compare as compare
from calbias.auditing.diagrams.corp import corp_diagram as corp_diagram
from calbias.auditing.diagrams.reliability import ReliabilityDiagram as ReliabilityDiagram
from calbias.auditing.diagrams.reliability import reliability_diagram as reliability_diagram
from calbias.auditing.planning.plan import plan as plan
from calbias.auditing.results import Audit as Audit
from calbias.auditing.results import Comparison as Comparison
from calbias.bias_expansion import debias_or_sweep as debias_or_sweep
from calbias.errors import InputError as InputError
from calbias.estimation.api import Estimate as Estimate
from calbias.estimation.api import estimate as estimate
from calbias.estimation.api import list_estimators as list_estimators
from calbias.estimation.ece import ece as ece
from calbias.monitoring.monitor import Monitor as Monitor
from calbias.multiclass.noise import noise_floor as noise_floor
from calbias.reading.example import example as example
from calbias.recalibrator import Recalibrator as Recalibrator
from calbias.simulation import bias as bias
from calbias.simulation import simulate as simulate
from calbias.sketch import Sketch as Sketch
from calbias.truth.counted import CountedScenario as CountedScenario
from calbias.truth.curves import Curve as Curve
from calbias.truth.scenarios import Scenario as Scenario
from calbias.truth.true_error import true_calibration_error as true_calibration_error

__version__: str
