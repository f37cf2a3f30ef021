"""A check of drawn histories over a few namespaces, tables and views, judged by the model."""

from icecheck.client.catalog import Catalog
from icecheck.client.given import given_namespace
from icecheck.judging.check import check
from icecheck.judging.probes import require_capability
from icecheck.scenarios.random.actions import from_json, is_nested
from icecheck.scenarios.random.plans import Sizes, draw_plans
from icecheck.scenarios.random.replaying import replay
from icecheck.scenarios.walking.walker import given_root

CHECK = "scenario.namespaces-and-tables"
USUAL = Sizes(plans_max=6, steps_min=12, steps_max=23)
THOROUGH = Sizes(plans_max=250, steps_min=30, steps_max=40)


@check(CHECK)
def test_histories_follow_the_model(catalog: Catalog) -> None:
    """Histories of namespace and table operations end as each step promised."""
    # Ends the check where namespaces may not be as deep as those of the histories.
    given_namespace(catalog, under=given_root(catalog))
    replays = catalog.session.replays
    for steps in replays.steps_of(CHECK):
        actions = from_json(steps)
        if replays.alone and any(map(is_nested, actions)):
            require_capability(catalog, "nested-namespaces")  # the rest has found nothing
        replay(catalog, actions)
    if not replays.alone:
        sizes = THOROUGH if catalog.target.thorough else USUAL
        for plan in draw_plans(catalog.session.seed, sizes):
            replay(catalog, plan)
