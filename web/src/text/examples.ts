// Blueprints to begin with: each can be opened, run, changed and kept under another name.

import { later } from '../language/language.ts';

export interface Example {
    title: string;
    description: string;
    text: string;
}

/** Names that conditions and links have are identifiers; people read the titles. */
export const EXAMPLES: readonly Example[] = [
    {
        title: later('Ask and choose'),
        description: later('Asks a person which of three, and answers. It moves nothing.'),
        text: `name: ask_and_choose
title: Ask and choose
level: blueprint
description: Asks a person which of three, and answers. It moves nothing.
start: which
nodes:
  which:
    title: Which one?
    ask: {text: Which of the three?, answers: [red, green, none_of_them], titles: {none_of_them: none of them}}
    then: [{on: red, go: say_red}, {on: green, go: say_green}, {on: none_of_them, go: wait}]
  say_red: {title: Red, say: Red it is}
  say_green: {title: Green, say: Green it is}
  wait: {title: Wait a moment, wait: 2, then: which}
`,
    },
    {
        title: later('Up and down'),
        description: later('The arm goes up and down again, three times.'),
        text: `name: up_and_down
title: Up and down
level: blueprint
description: The arm goes up and down again, three times.
parameters: {rounds: {type: int, default: 3, minimum: 1, maximum: 100}}
start: up
nodes:
  up: {title: Up, skill: move_linear, parts: {arm: arm}, with: {offset: [0, 0, 0.05]}, then: down}
  down:
    title: Down again
    skill: move_linear
    parts: {arm: arm}
    with: {offset: [0, 0, -0.05]}
    timeout: 20
    then: [{when: down.count < $rounds, go: up}, {go: bye}]
  bye: {title: Goodbye, say: That was all}
`,
    },
    {
        title: later('Pick, and try again'),
        description: later('Picks an object and puts it down. If it misses twice, it asks a person.'),
        text: `name: pick_and_try_again
title: Pick, and try again
level: blueprint
description: Picks an object and puts it down. If it misses twice, it asks a person.
results: {nothing: {failure: true}}
start: pick
nodes:
  pick:
    title: Pick it
    skill: move_object
    with: {from_position: [0.45, -0.30, 0.115], to_position: [0.52, -0.12, 0.115]}
    retry: 1
    timeout: 60
    then: [{on: done, go: there}, {on: failure, go: help}]
  help:
    title: Ask for help
    ask:
      text: I cannot get it. Is it at its place?
      answers: [try_again, leave_it]
      titles: {try_again: try again, leave_it: leave it}
    then: [{on: try_again, go: pick}, {on: leave_it, end: nothing}]
  there: {title: It is there, say: It is in its place}
`,
    },
];
