import type { KnipConfig } from 'knip'
import { entries, moduleEntries, programs } from './test/support/entries.ts'

const published = Object.values({ ...entries, ...moduleEntries, ...programs })
/** The published entries in a folder, by their paths there. */
const within = (folder: string): string[] =>
  published.filter((source) => source.startsWith(folder)).map((source) => source.slice(folder.length))

const workspace = { entry: ['test/**/*.test.ts'], project: ['src/**/*.{ts,tsx}', 'test/**/*.ts'] }

const config: KnipConfig = {
  workspaces: {
    '.': {
      entry: [
        ...published.filter((source) => !source.startsWith('packages/')),
        'test/**/*.{test,spec}.{ts,cjs}',
        'test/**/{playwright,vitest}.config.ts',
        'test/fixtures/inspected/*.ts',
        'test/{nightly,failures}/*.ts',
        'test/runtimes/{run,lock-runtimes}.ts',
        'test/playwright/app.ts',
        'test/support/*.mjs',
        'test/support/{address,complete-lock-file,generate-docs,obtain-redis-server,record*,version,write-schemas}.ts',
        'bench/**/*.ts',
        'examples/**/*.{ts,tsx,js,mjs,cjs}',
        'docs/.vitepress/**/*.{ts,vue}',
      ],
      project: ['src/**/*.ts', 'matchers/**/*.ts', 'fixtures/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts'],
      // Projects of their own, and declarations that are written for the build's folder.
      ignore: ['test/fixtures/cases/**', 'test/runtimes/*/*.mjs', 'matchers/vitest4-types.d.ts'],
    },
    'packages/explore': { ...workspace, entry: [...workspace.entry, ...within('packages/explore/')] },
    'packages/server': {
      ...workspace,
      entry: [
        ...workspace.entry,
        ...within('packages/server/').filter((source) => source !== 'src/server.ts'),
        'test/endurance/{run,server-child,attack-child}.ts',
      ],
    },
    'packages/inspector': {
      ...workspace,
      entry: [...workspace.entry, 'src/main.tsx', 'src/{editor,copy}-loader.ts', 'src/panels/code-editor.ts'],
    },
    'packages/*': workspace,
  },
  ignoreWorkspaces: ['test/versions/*', 'examples/recipes/*', 'packages/create-stuntdouble'],
  ignoreDependencies: [
    // Started, or named in a configuration.
    '@arethetypeswrong/cli',
    'jest',
    'typedoc-vitepress-theme',
    // Of another package that has them.
    'markdown-it',
    '@jest/globals',
    'expect',
    '@lezer/highlight',
    'vue',
    // Of the recipes, and of the tests that compare versions.
    'express',
    'fastify',
    'next',
    'nock14',
  ],
  ignoreIssues: {
    // The runners take their default exports by the file's name; a child process takes the third.
    'test/{site/build-and-serve,support/tier-reporter,support/redis-server}.ts': ['exports'],
    'test/nightly/redis-suite.ts': ['unresolved'],
    // Two names of Vitest's.
    'docs/.vitepress/playground/tests.ts': ['duplicates'],
  },
  // Of the machine; tests that need one say so where it is missing.
  ignoreBinaries: ['apt-get', 'dpkg', 'mkfifo', 'openssl', 'redis-server', 'sha256sum', 'tclsh8.6'],
}

export default config
