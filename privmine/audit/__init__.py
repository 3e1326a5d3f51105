"""Audits: does a pipeline, or a component, keep the privacy that it claims?

Two independent ways to find out. `replay` runs a pipeline on two neighbouring databases with the same noisy
answers and compares everything; it is exact and fast, and sees each query. `lower_bounds` runs it many times
as a black box and bounds ε from below. `audit` does both. docs/audit.md says what they prove, and what not.
"""

from __future__ import annotations

from privmine.audit.audits import QUICK, STANDARD, THOROUGH, Effort, audit, quick_audit
from privmine.audit.cases import Case, generated_cases, some_cases
from privmine.audit.customers import CustomerCase, CustomerDatabase, generated_customer_cases, some_customer_cases
from privmine.audit.evidence import Evidence
from privmine.audit.findings import Finding
from privmine.audit.outcomes import PipelineSample, secure_noise
from privmine.audit.reading import SourceReport, audit_source
from privmine.audit.replay import Counterexample, counterexamples, replay
from privmine.audit.report import AuditReport, SampledCase
from privmine.audit.samplers import sampler_checks, source_bounds
from privmine.audit.statistical import Bound, lower_bounds, mechanism_bound
from privmine.audit.subjects import Subject, all_subjects, subject_of
from privmine.audit.written_sources import Source

__all__ = [
    "QUICK",
    "STANDARD",
    "THOROUGH",
    "AuditReport",
    "Bound",
    "Case",
    "Counterexample",
    "CustomerCase",
    "CustomerDatabase",
    "Effort",
    "Evidence",
    "Finding",
    "PipelineSample",
    "SampledCase",
    "Source",
    "SourceReport",
    "Subject",
    "all_subjects",
    "audit",
    "audit_source",
    "counterexamples",
    "generated_cases",
    "generated_customer_cases",
    "lower_bounds",
    "mechanism_bound",
    "quick_audit",
    "replay",
    "sampler_checks",
    "secure_noise",
    "some_cases",
    "some_customer_cases",
    "source_bounds",
    "subject_of",
]
