import type { Program } from '@stuntdouble/command-line'

export const about = {
  name: 'stuntdouble',
  description: 'A stunt double for a data store, a message queue and a statistics API.',
}

/** One command: what it is, and where it lives. */
export interface CommandEntryPoint {
  readonly description: string
  /** Loaded when it is called, so that one command does not wait for what another needs. */
  load(): Promise<{ readonly program: Program }>
}

/** The commands of the command line. */
export const programs: Readonly<Record<string, CommandEntryPoint>> = {
  init: {
    description: 'Write the setup file and a first test into a project.',
    load: () => import('./init-program.js'),
  },
  serve: {
    description: 'Serve the three APIs over HTTP, one sandbox for each tenant.',
    load: () => import('./serve-program.js'),
  },
  tail: {
    description: 'Follow the story of a running server.',
    load: () => import('./tail-program.js'),
  },
  run: {
    description: 'Run a command, such as the tests of an app, with a server and its environment.',
    load: () => import('./run-program.js'),
  },
  play: {
    description: 'Play a scenario and say whether it holds.',
    load: () => import('./play-program.js'),
  },
  'campaign run': {
    description: 'Run a campaign, or a part of it.',
    load: () => import('./explore-program.js').then(({ runProgram: program }) => ({ program })),
  },
  'campaign merge': {
    description: 'Merge the parts of a campaign.',
    load: () => import('./explore-program.js').then(({ mergeProgram: program }) => ({ program })),
  },
  import: {
    description: 'Turn dead letters, log entries and callback bodies into a scenario.',
    load: () => import('./import-program.js'),
  },
  history: {
    description: 'Write what a run of a workflow has done to a file, to replay it against later code.',
    load: () => import('./history-program.js'),
  },
  diff: {
    description: 'Compare two traces and show what changed.',
    load: () => import('./diff-program.js'),
  },
  report: {
    description: 'Make a page of a trace, as one file.',
    load: () => import('./report-program.js'),
  },
  open: {
    description: 'Look into a trace in the browser.',
    load: () => import('./open-program.js'),
  },
  copy: {
    description: 'Copy what a trace shows as curl, an SDK call, a test, a scenario, a diagram or a prompt.',
    load: () => import('./copy-program.js'),
  },
  env: {
    description: 'Print the environment of a running server, for a shell, a file or a pipeline.',
    load: () => import('./env-program.js'),
  },
  mcp: {
    description: 'Let an agent look into a world and drive it, over the model context protocol.',
    load: () => import('./mcp-program.js'),
  },
  drift: {
    description: 'Compare the double with a real service, and tell what differs.',
    load: () => import('./drift-program.js'),
  },
  doctor: {
    description: 'Look for real hosts in the environment, versions that do not work, and a browser.',
    load: () => import('./doctor-program.js'),
  },
}

/** What the number means that a command ends with. */
export const exitCodes: Readonly<Record<0 | 1 | 2 | 3 | 4, string>> = {
  0: 'all is well',
  1: 'not as expected: a scenario does not hold, a run of a campaign fails, traces differ, something is wrong with the machine, a server has gone, a service answers differently',
  2: 'wrong use, a file that cannot be read, or a comparison that did not come to its end',
  3: 'a server has ended whose last state could not be written to its file',
  4: 'no run of a campaign failed, but not all were run',
}
