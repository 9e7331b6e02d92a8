import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { Application, type DeclarationReflection, LogLevel, ReflectionKind } from 'typedoc'
import { MarkdownPageEvent, type PluginOptions } from 'typedoc-plugin-markdown'
import type { DefaultTheme } from 'vitepress'
import { entries, moduleEntries, specifierOf } from '../../../test/support/entries.ts'
import { areasOf, divide } from './areas.ts'
import { pages, root, work } from './places.ts'

// TypeDoc writes the reference of the JavaScript API from the docstrings of the published entries. Each entry has a page.
// An entry with many exports has a page for each area.

/** A module from which TypeDoc writes a page. */
interface Module {
  /** Name of the module, from which TypeDoc derives the path of the page: `stuntdouble/server`, `root/queue`. */
  readonly module: string
  readonly title: string
  /** How users import the exports: `stuntdouble`. */
  readonly specifier: string
  /** Name of the area, if the entry has more than one page. */
  readonly area?: string | undefined
  /** Text under the title. */
  readonly about: string
  readonly statements: readonly string[]
}

function modules(): readonly Module[] {
  const published = Object.entries({ ...entries, ...moduleEntries }).filter(([name]) => name !== 'cli')
  return published.flatMap(([name, source]): readonly Module[] => {
    const specifier = specifierOf(name)
    if (!(name in areasOf)) {
      const statements = [`export * from '${source.replace(/\.ts$/, '.js')}'`]
      const about = name.endsWith('/extend')
        ? 'This entry has no exports. Import it to add the matchers to `expect`.'
        : ''
      return [{ module: specifier, title: specifier, specifier, about, statements }]
    }
    return divide(name, source).map(({ name: area, statements }) => ({
      module: `${name === 'index' ? 'root' : name}/${area}`,
      title: `${specifier}: ${area.replaceAll('-', ' ')}`,
      specifier,
      area: area.replaceAll('-', ' ').replace(/^\w/, (letter) => letter.toUpperCase()),
      about: `Import these names from \`${specifier}\`.`,
      statements,
    }))
  })
}

/** Writes the modules that TypeDoc reads, and returns their files. */
function writeModules(all: readonly Module[]): string[] {
  const folder = join(work, 'entries')
  rmSync(folder, { recursive: true, force: true })
  const files = all.map(({ module, about, statements }) => {
    const file = join(folder, `${module === 'stuntdouble' ? 'index' : module}.ts`)
    mkdirSync(dirname(file), { recursive: true })
    const up = relative(dirname(file), root)
    const exports = statements.map((statement) => statement.replace(/\bfrom '/, `from '${up}/`))
    writeFileSync(file, `/**\n * ${about}\n * @module ${module}\n */\n${exports.join('\n')}\n`)
    return file
  })
  const config = { extends: join(root, 'tsconfig.json'), include: [folder], compilerOptions: { types: ['node'] } }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  return files
}

/**
 * Writes the pages of the reference into a folder.
 * @throws when TypeDoc reports a warning about the docstrings
 */
export async function writeApi(out: string = join(pages, 'reference/api')): Promise<void> {
  const all = modules()
  const titles = new Map(all.map(({ module, title }) => [module, title]))
  const options: Record<string, unknown> & Partial<PluginOptions> = {
    entryPoints: writeModules(all),
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
    // One page for each module. A page for each export would make most of the site.
    outputFileStrategy: 'modules',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    pageTitleTemplates: { module: ({ rawName }) => titles.get(rawName) ?? rawName },
    groupOrder: ['Functions', 'Variables', 'Classes', 'Interfaces', 'Type Aliases', '*'],
    // Headings with the same text need IDs of their own; otherwise links depend on how VitePress numbers them.
    useCustomAnchors: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    typeDeclarationFormat: 'table',
    // Almost every property is read-only. The `?` after a name already marks optional ones.
    tableColumnSettings: {
      hideModifiers: true,
      hideInherited: true,
      hideOverrides: true,
      hideSources: true,
      leftAlignHeaders: true,
    },
    // `npm run check` has checked the types. Types that only other types use have no page.
    skipErrorChecking: true,
    validation: { notExported: false, invalidLink: true, invalidPath: true, rewrittenLink: true },
    logLevel: LogLevel.Warn,
  }
  const app = await Application.bootstrapWithPlugins(options as never)
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc could not read the sources.')
  app.validate(project)
  app.renderer.on(MarkdownPageEvent.END, (page) => {
    if (page.contents !== undefined) page.contents = withFewerHeadings(page.contents)
  })
  app.renderer.postRenderAsyncJobs.push(async () => {
    const urlOf = (reflection: DeclarationReflection): string => app.renderer.router!.getFullUrl(reflection)
    const written = all.flatMap(({ module, specifier, area }): WrittenPage[] => {
      const reflection = project.getChildByName([module]) as DeclarationReflection
      const namespaces = (reflection.children ?? []).filter(({ kind }) => kind === ReflectionKind.Namespace)
      return [
        { specifier, area, url: urlOf(reflection), reflection },
        ...namespaces.map((one) => ({ specifier, area: one.name, url: urlOf(one), reflection: one })),
      ]
    })
    writeFileSync(join(out, 'index.md'), overview(written, urlOf))
    // site/navigation.ts reads it.
    writeFileSync(join(out, 'sidebar.json'), JSON.stringify(sidebarOf(written)))
  })
  await app.generateOutputs(project)
  const { errorCount, warningCount } = app.logger
  if (errorCount + warningCount > 0) throw new Error('TypeDoc reported the problems above in the docstrings.')
}

/**
 * Leaves headings to the title, the kinds of exports, the exports and their members. Headings such as "Returns" become
 * bold text: a page has hundreds, and no link leads to them. The IDs of other headings contain a hyphen, which no name has.
 */
function withFewerHeadings(page: string): string {
  return page
    .replace(/^# (.*)$/m, '# $1 {#page-title}')
    .replace(/^## (.)(.*)$/gm, (_heading, first: string, rest: string) => {
      const kind = first + rest.toLowerCase()
      return `## ${kind} {#kind-${kind.toLowerCase().replaceAll(' ', '-')}}`
    })
    .replace(/^#{4,6} (.*)$/gm, (_heading, text: string) => (text.endsWith('}') ? `#### ${text}` : `**${text}**`))
}

/** A written page: an entry, an area of one, or a namespace. */
interface WrittenPage extends Pick<Module, 'specifier' | 'area'> {
  /** Path of the page, relative to the folder of the reference. */
  readonly url: string
  readonly reflection: DeclarationReflection
}

/** Lists the exports of all entries. */
function overview(written: readonly WrittenPage[], urlOf: (reflection: DeclarationReflection) => string): string {
  const rows = written.map(({ specifier, area, url, reflection }) => {
    const page = area === undefined ? `[\`${specifier}\`](${url})` : `\`${specifier}\`: [${area}](${url})`
    const names = (reflection.children ?? [])
      .filter(({ kind }) => kind !== ReflectionKind.Reference)
      .map((child) => ({ name: child.name, link: `[${child.name}](${urlOf(child)})` }))
      .sort((one, other) => one.name.localeCompare(other.name, 'en'))
    return `| ${page} | ${names.length === 0 ? 'no exports' : names.map(({ link }) => link).join(', ')} |`
  })
  return `# JavaScript API

Find out which entry exports a name, and open its description.

| Entry | Exports |
|---|---|
${rows.join('\n')}
`
}

function sidebarOf(written: readonly WrittenPage[]): readonly DefaultTheme.SidebarItem[] {
  const link = (url: string): string => `/reference/api/${url.replace(/(?:index)?\.md$/, '')}`
  return [...new Set(written.map(({ specifier }) => specifier))].map((text) => {
    const group = written.filter(({ specifier }) => specifier === text)
    const entry = group.find(({ area }) => area === undefined)
    const items = group.flatMap(({ area, url }) => (area === undefined ? [] : [{ text: area, link: link(url) }]))
    return { text, ...(entry !== undefined && { link: link(entry.url) }), ...(items.length > 0 && { items }) }
  })
}
