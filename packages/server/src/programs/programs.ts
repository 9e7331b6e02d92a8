import type { Program } from '@stuntdouble/command-line'

export const about = {
  name: 'stuntdouble',
  description: 'A test double for a data store over REST, a message queue with workflows, and statistics',
}

export interface CommandEntryPoint {
  /** Summary of the command: an imperative without a full stop, of at most 70 characters. */
  readonly description: string
  /** Loads the program of the command on demand, so that a command does not import the modules of other commands. */
  load(): Promise<{ readonly program: Program }>
}

/** Summaries of the commands that have subcommands. */
export const groups: Readonly<Record<string, string>> = {
  campaign: 'Run a check many times, on several processors or machines',
}

/** All commands, by name. A name with two words is a subcommand of one of the {@link groups}. */
export const programs: Readonly<Record<string, CommandEntryPoint>> = {
  init: {
    description: 'Write the setup file and a first test into a project',
    load: () => import('./init-program.js'),
  },
  serve: {
    description: 'Start a server for store, queue and statistics; one sandbox per tenant',
    load: () => import('./serve-program.js'),
  },
  tail: {
    description: 'Print the traffic of a running server as it happens',
    load: () => import('./tail-program.js'),
  },
  run: {
    description: 'Start a server and run a command, such as tests, with its environment',
    load: () => import('./run-program.js'),
  },
  play: {
    description: 'Play a scenario and print whether its expectations hold',
    load: () => import('./play-program.js'),
  },
  'campaign run': {
    description: 'Run a campaign, or one shard of it',
    load: () => import('./explore-program.js').then(({ runProgram: program }) => ({ program })),
  },
  'campaign merge': {
    description: 'Merge the files of the shards of a campaign',
    load: () => import('./explore-program.js').then(({ mergeProgram: program }) => ({ program })),
  },
  import: {
    description: 'Turn dead letters, log entries and callback bodies into a scenario',
    load: () => import('./import-program.js'),
  },
  history: {
    description: 'Save a workflow run history, to replay it against later code',
    load: () => import('./history-program.js'),
  },
  diff: {
    description: 'Compare two traces and print the differences',
    load: () => import('./diff-program.js'),
  },
  report: {
    description: 'Turn a trace into a page, as one HTML file',
    load: () => import('./report-program.js'),
  },
  open: {
    description: 'Open a trace in the browser',
    load: () => import('./open-program.js'),
  },
  copy: {
    description: 'Copy from a trace as curl, SDK call, test, scenario, diagram or prompt',
    load: () => import('./copy-program.js'),
  },
  env: {
    description: 'Print the environment of a running server for a shell, file or CI job',
    load: () => import('./env-program.js'),
  },
  mcp: {
    description: 'Start an MCP server through which an agent reads and drives a sandbox',
    load: () => import('./mcp-program.js'),
  },
  drift: {
    description: 'Send the same requests to the double and a real service, and compare',
    load: () => import('./drift-program.js'),
  },
  doctor: {
    description: 'Check for real hosts in the environment, old versions and a browser',
    load: () => import('./doctor-program.js'),
  },
}

/** The meaning of each exit code: `short` for the help, and `full` for the reference. */
export const exitCodes: Readonly<Record<0 | 1 | 2 | 3 | 4, { readonly short: string; readonly full: string }>> = {
  0: { short: 'success', full: 'success' },
  1: {
    short: 'failed check',
    full: 'a failed check: a scenario does not hold, a run of a campaign fails, traces differ, `doctor` finds a problem, or `drift` a new difference. Also: the server of `tail` has ended',
  },
  2: {
    short: 'wrong usage',
    full: 'wrong usage, a file that cannot be read, or a comparison that did not finish',
  },
  3: { short: 'state not saved', full: 'a server has ended and could not write its last state to its file' },
  4: { short: 'runs missing', full: 'no run of a campaign failed, but not all runs were carried out' },
}
