from privmine.audit.cases import Case, generated_cases, some_cases
from privmine.audit.replay import replay, counterexamples
