import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ParsedArguments, type Program, textOf, UsageError } from '@stuntdouble/command-line'
import { planFor } from '../init/files.js'
import { type ProjectRunner, projectIn, runners } from '../init/project.js'

export const program: Program = {
  args: {
    runner: {
      type: 'string',
      valueHint: runners.join('|'),
      description: 'test runner (default: found in the dependencies)',
    },
    'dry-run': { type: 'boolean', description: 'print the files without writing them' },
  },
  examples: ['stuntdouble init', 'stuntdouble init --dry-run', 'npm create stuntdouble'],
  run: async (given) => {
    const folder = process.cwd()
    const project = projectIn(folder, runnerOf(given))
    const { files, left, run } = planFor(project)
    const isDry = given['dry-run'] === true
    for (const { path, text } of files) {
      const isThere = existsSync(join(folder, path))
      console.log(
        isThere ? `${path} exists already and was not changed.\n` : `${isDry ? 'Would write' : 'Wrote'} ${path}:\n`,
      )
      if (isThere) continue
      console.log(text.replace(/^(?=.)/gm, '  '))
      if (!isDry) write(join(folder, path), text)
    }
    for (const sentence of [...project.doubts, ...left]) console.log(`${sentence}\n`)
    console.log(`Next:\n`)
    if (!project.hasPackage) console.log(`  ${project.install} stuntdouble`)
    console.log(`  ${run}`)
    return 0
  },
}

function runnerOf(given: ParsedArguments): ProjectRunner | undefined {
  const name = textOf(given, 'runner', runners.join('|'))
  if (name === undefined || (runners as readonly string[]).includes(name)) return name as ProjectRunner | undefined
  throw new UsageError(`--runner must be one of ${runners.join(', ')} (got ${JSON.stringify(name)}).`)
}

/** Writes a new file. A file that was created in the meantime is not overwritten. */
function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  try {
    writeFileSync(path, text, { flag: 'wx' })
  } catch (error) {
    throw new UsageError(`${path} cannot be written: ${(error as Error).message}.`)
  }
}
