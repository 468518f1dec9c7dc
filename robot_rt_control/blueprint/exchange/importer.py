"""Makes blueprints of behavior trees (BehaviorTree.CPP, version 4): one skill for each tree.

A tree's leaves become nodes; what is around them becomes the candidates that lead from one to the next. What bounds or
repeats more than one leaf, and what runs side by side, becomes a skill of its own. Entries of the blackboard that a
leaf writes become its outputs, all others parameters. What a graph cannot hold is refused with its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from robot_rt_control.blueprint.exchange.elements import attribute, entries_of, free, identifier
from robot_rt_control.blueprint.exchange.graph_writer import GraphWriter, MadeSkill
from robot_rt_control.blueprint.exchange.subtree_models import Models, Port, read_models
from robot_rt_control.blueprint.exchange.tree_reader import TreeReader
from robot_rt_control.blueprint.exchange.xml_reader import Element, read_xml
from robot_rt_control.blueprint.skills.skill_library import mistakes_of
from robot_rt_control.blueprint.text.catalogue import SkillCatalogue
from robot_rt_control.blueprint.text.check import check_skill
from robot_rt_control.blueprint.text.skill_file import SkillTemplate
from robot_rt_control.text.mistakes import Mistakes
from robot_rt_control.vocabulary.errors import DefinitionError, unknown


@dataclass(frozen=True, kw_only=True)
class Imported:
    """The skills of a file.

    Args:
        main: name of the outermost one.
        skills: by name, those that are called first.
        elements: name → node → the element that it was made of.
        warnings: elements that were left out, because nothing leads to them; with their lines.
    """

    main: str
    skills: dict[str, SkillTemplate]
    elements: dict[str, dict[str, Element]]
    warnings: tuple[str, ...] = ()

    def check(self, catalogue: SkillCatalogue) -> list[str]:
        """Check the skills. Returns warnings.

        Args:
            catalogue: all others.

        Raises:
            DefinitionError, ProgramError: all mistakes, each at the element that its node was made of.
        """
        for template in self.skills.values():
            catalogue = catalogue.with_skill(template)
        warnings, mistakes = list(self.warnings), Mistakes()
        for name, template in self.skills.items():
            try:
                warnings += check_skill(template, catalogue)
            except DefinitionError as error:
                for one, node in mistakes_of(error, template):
                    if node in self.elements[name]:
                        one.what = one.what.removeprefix(f"{template.source}:{one.line}: ")
                        one.args = (one.args[0].removeprefix(f"{template.source}:{one.line}: "),)
                        one = self.elements[name][node].located(one)
                    mistakes.errors.append(one)
        mistakes.raise_all()
        return warnings


def import_trees(text: str, catalogue: SkillCatalogue, *, source: str = "trees") -> Imported:
    """Read the trees of a file.

    Args:
        catalogue: the skills that leaves can be.

    Raises:
        DefinitionError, ProgramError: not XML, or what cannot be a blueprint; each mistake with its line.
    """
    root = read_xml(text, source)
    mistakes = Mistakes()
    with mistakes.collect():
        importer = _Importer(root, catalogue, mistakes)
        importer.read()
    mistakes.raise_all()
    return Imported(
        main=importer.names[importer.main],
        skills=importer.made,
        elements=importer.elements,
        warnings=tuple(importer.warnings),
    )


class _Importer:
    def __init__(self, root: Element, catalogue: SkillCatalogue, mistakes: Mistakes) -> None:
        if root.tag != "root" or root.attributes.get("BTCPP_format") != "4":
            got = f"<{root.tag}> with BTCPP_format {root.attributes.get('BTCPP_format')!r}"
            raise root.mistake("not a file of behavior trees", expected='<root BTCPP_format="4">', got=got)
        self.catalogue, self.mistakes = catalogue, mistakes
        self.root = root
        self.trees: dict[str, Element] = {}
        self.models: Models = {}
        self.names: dict[str, str] = {}
        """ID of a tree → name of its skill."""
        self.main = ""
        self.made: dict[str, SkillTemplate] = {}
        self.elements: dict[str, dict[str, Element]] = {}
        self.warnings: list[str] = []
        self._finished: dict[str, MadeSkill | None] = {}
        self._open: list[str] = []
        self._taken: set[str] = set()

    def read(self) -> None:
        for element in self.root.children:
            with self.mistakes.collect():
                if element.tag == "BehaviorTree":
                    id = attribute(element, "ID")
                    if id in self.trees:
                        raise element.mistake(f"a second tree {id!r}")
                    self.trees[id] = element
                    self.names[id] = self._free_name(identifier(id), self._taken)
                    if self.names[id] in self.catalogue.programs or self.names[id] in (
                        self.catalogue.workcell.types or {}
                    ):
                        raise element.mistake(
                            f"tree {id!r} has the name of a program or an action type", expected="another ID"
                        )
                elif element.tag != "TreeNodesModel":
                    raise element.mistake(
                        f"<{element.tag}> is not imported", expected="BehaviorTree or TreeNodesModel"
                    )
        with self.mistakes.collect():
            self.models = read_models(self.root)
        self.main = self.root.attributes.get("main_tree_to_execute") or (
            next(iter(self.trees)) if len(self.trees) == 1 else ""
        )
        if self.main not in self.trees:
            needed = "main_tree_to_execute: the outermost tree"
            expected = unknown("tree", self.main, self.trees) if self.main else needed
            raise self.root.mistake("main tree", expected=expected, got=repr(self.main))
        for id in self.trees:
            self.tree(id)

    def tree(self, id: str) -> MadeSkill | None:
        """The skill of a tree; None: it has mistakes."""
        if id in self._finished:
            return self._finished[id]
        element = self.trees[id]
        if id in self._open:
            raise element.mistake(f"tree {id!r} contains itself: {' → '.join((*self._open, id))}")
        self._open.append(id)
        made = None
        with self.mistakes.collect():
            if len(element.children) != 1:
                raise element.mistake(f"tree {id!r}", expected="one element in it", got=str(len(element.children)))
            made = self.skill(
                self.names[id], element.children[0], self._wanted(id), defaults=self.models.get(id)
            )
        self._finished[id] = made
        self._open.pop()
        return made

    def _wanted(self, id: str) -> set[str]:
        """Entries of a tree that its callers may read."""
        own = {*entries_of(self.trees[id])}
        mentioned = {entry for tree in self.trees.values() for entry in entries_of(tree)}
        found: set[str] = set()
        for other, tree in self.trees.items():
            for call in tree.all():
                if call.tag != "SubTree" or call.attributes.get("ID") != id:
                    continue
                if "_autoremap" in call.attributes:
                    around = own & {*entries_of(tree)}
                    found |= around if other == self.main else own
                found |= {*call.attributes}
                found |= {name for name, port in self.models.get(id, {}).items() if port.entry in mentioned}
        return found

    def skill(
        self,
        name: str,
        element: Element,
        wanted: Iterable[str],
        *,
        caught: bool = False,
        defaults: Mapping[str, Port] | None = None,
    ) -> MadeSkill:
        """Make a skill of an element.

        Args:
            wanted: entries that are read elsewhere: they become outputs, if something in it writes them.
            caught: its failure becomes the output FAILURES.
            defaults: ports of the model of a tree, whose values become those of the parameters.
        """
        reader = TreeReader(self, name, element)
        expression = reader.expression(element)
        caught_id = reader.free_id("failed") if caught else ""
        writer = GraphWriter(name, reader.units, caught=caught_id, defaults=defaults or {})
        made = writer.write(expression, {*wanted})
        self.made[name], self.elements[name] = made.template, made.elements
        self.warnings += writer.warnings
        return made

    def nested_name(self, name: str) -> str:
        return self._free_name(name, self._taken | self.catalogue.skills.keys() | {*self.names.values()})

    def _free_name(self, name: str, taken: Iterable[str]) -> str:
        found = free(name, frozenset(taken))
        self._taken.add(found)
        return found
