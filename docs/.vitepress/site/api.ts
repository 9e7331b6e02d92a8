import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Application, LogLevel } from 'typedoc'
import type { PluginOptions } from 'typedoc-plugin-markdown'
import { entries, moduleEntries } from '../../../test/support/entries.ts'
import { pages, root, work } from './places.ts'

// The reference of the JavaScript API comes from the docstrings of what is published.

/** A program whose modules have the names under which they are published. */
function writeEntries(): string[] {
  const folder = join(work, 'entries')
  rmSync(folder, { recursive: true, force: true })
  const published = Object.entries({ ...entries, ...moduleEntries }).filter(([name]) => name !== 'cli')
  const files = published.map(([name, source]) => {
    const file = join(folder, `${name}.ts`)
    mkdirSync(dirname(file), { recursive: true })
    const from = relative(dirname(file), join(root, source)).replace(/\.ts$/, '.js')
    const title = name === 'index' ? 'stuntdouble' : `stuntdouble/${name}`
    writeFileSync(file, `/**\n * @module ${title}\n */\nexport * from '${from}'\n`)
    return file
  })
  const config = { extends: join(root, 'tsconfig.json'), include: [folder], compilerOptions: { types: ['node'] } }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return files
}

/**
 * Writes the pages of the reference into a folder.
 * @throws when TypeDoc has anything to say about the docstrings
 */
export async function writeApi(out: string = join(pages, 'reference/api')): Promise<void> {
  const options: Record<string, unknown> & Partial<PluginOptions> = {
    entryPoints: writeEntries(),
    tsconfig: join(work, 'entries/tsconfig.json'),
    plugin: ['typedoc-plugin-markdown', 'typedoc-vitepress-theme'],
    out,
    docsRoot: pages,
    name: 'JavaScript API',
    readme: 'none',
    disableSources: true,
    excludePrivate: true,
    excludeInternal: true,
    excludeExternals: true,
    // One page for each entry, as Node's own documentation has it: a page for each name would be most of the site.
    outputFileStrategy: 'modules',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    // `npm run check` has checked the types; some are used only by others and have no page.
    skipErrorChecking: true,
    validation: { notExported: false, invalidLink: true, invalidPath: true, rewrittenLink: true },
    logLevel: LogLevel.Warn,
  }
  const app = await Application.bootstrapWithPlugins(options as never)
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc could not read the sources.')
  app.validate(project)
  await app.generateOutputs(project)
  const { errorCount, warningCount } = app.logger
  if (errorCount + warningCount > 0) throw new Error('TypeDoc found what is told above in the docstrings.')
}
