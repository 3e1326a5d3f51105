"""What the registry of deployments takes, written down from its schema at commit 3e9c812: fields, types, choices.

The registry's own checker was run on drafts as well; docs/disclose.md says how.
"""

from __future__ import annotations

from typing import Any

TEXT = {"type": "string"}
TEXTS = {"type": "array", "items": TEXT, "minItems": 1}
NUMBER = {"type": "number"}


def choice(*values: Any) -> dict[str, Any]:
    """One of these."""
    return {"enum": list(values)}


def record(required: str = "", **fields: Any) -> dict[str, Any]:
    """A mapping of these fields and no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": fields,
    }


SCHEMA = record(
    "url_slug status tier deployment",
    url_slug=TEXT,
    status=choice(
        "Converted", "Draft", "Pending", "Changes Required", "Approved", "Approved (Update Requested)",
        "Approved (Pending)",
    ),
    tier=choice(1, 2, 3),
    deployment=record(
        "basic",
        basic=record(
            "name data_curators description intended_use data_product_type data_product_region publication_date",
            name=TEXT,
            data_curators=TEXTS,
            intended_use=TEXT,
            data_product_type=choice(
                "Summary statistics", "Machine learning model", "Dataset", "Synthetic data", "Interactive API",
                "SQL queries",
            ),
            data_product_region=TEXT,
            description=TEXT,
            publication_date={"type": "string", "format": "date"},
            data_product_sector=choice("Technology", "Healthcare", "Education", "Government", "Energy", "Finance"),
        ),
        dp_variant=record(
            variant_name=choice("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
            data_domain=TEXT,
            unprotected_quantities=TEXT,
        ),
        privacy_loss=record(
            privacy_unit=TEXT,
            privacy_unit_details=TEXT,
            privacy_parameters=record(epsilon=NUMBER, delta={"type": ["number", "string"]}, rho=NUMBER),
            privacy_parameters_details={},
        ),
        deployment_model=record(
            model_name=choice("Local", "Central", "Shuffle", "Federated", "Varies"),
            model_name_details=TEXT,
            actors=TEXT,
            release_type=choice("One release", "Many releases"),
            release_type_details=TEXT,
            data_source_type=choice("Static", "Dynamic"),
            data_source_type_details={},
            access_type=choice("Interactive", "Non-interactive"),
            access_type_details=TEXT,
        ),
        accounting=record(post_processing=TEXT, composition=TEXT),
        implementation=record(
            preprocessing_and_hyperparameter_tuning=TEXT,
            mechanisms=TEXT,
            justification=TEXT,
        ),
        administrative=record("registry_authors", sources=TEXT, notes=TEXT, registry_authors=TEXTS),
    ),
)  # fmt: skip
