import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, normalize, relative } from 'node:path'
import { firstSentence } from './llms.ts'
import { pages, root } from './places.ts'

// The pages of docs/ are also read in the repository, so the site uses them unchanged. It adds a page for each file that
// they link to; files outside of docs/ have pages under /files. Images are copied.

/**
 * Writes the Markdown pages of the site.
 * @returns the paths of all pages, relative to the folder of the site
 */
export function assemble(): readonly string[] {
  rmSync(pages, { recursive: true, force: true })
  const sources = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    .map((name) => `docs/${name}`)
  // A folder without an index page gets a list of its pages.
  const folders = [...new Set(sources.map((source) => dirname(source)))].filter(
    (folder) => folder !== 'docs' && !sources.includes(`${folder}/index.md`),
  )
  const queue = [...sources, ...folders]
  const done = new Set(queue)
  for (const source of queue) {
    if (isImage(source)) {
      cpSync(join(root, source), join(pages, pageFor(source)))
      continue
    }
    const { text, linked } = pageOf(source)
    write(pageFor(source), text)
    for (const one of linked) {
      if (done.has(one)) continue
      done.add(one)
      queue.push(one)
    }
  }
  // Pages and files that only the site has.
  cpSync(join(root, 'docs/.vitepress/pages'), pages, { recursive: true })
  cpSync(join(root, 'docs/.vitepress/public'), join(pages, 'public'), { recursive: true })
  return queue.filter((source) => !isImage(source)).map(pageFor)
}

interface SitePage {
  readonly text: string
  /** Files and folders of the repository to which the page links. */
  readonly linked: readonly string[]
}

function pageOf(source: string): SitePage {
  const place = join(root, source)
  if (statSync(place).isDirectory()) return folderPage(source)
  const text = readFileSync(place, 'utf8')
  if (extname(source) === '.md') return markdownPage(source, text)
  const language = { '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json', '.html': 'html' }[extname(source)] ?? 'ts'
  return {
    text: `---\nsearch: false\n---\n\n# ${basename(source)}\n\n\`${source}\`\n\n\`\`\`\`${language}\n${text}\n\`\`\`\`\n`,
    linked: [],
  }
}

function folderPage(source: string): SitePage {
  const linked = readdirSync(join(root, source))
    .filter((name) => !name.startsWith('.') && name !== 'node_modules' && !isImage(name))
    .map((name) => `${source}/${name}`)
  const heading = basename(source).replace(/^\w/, (letter) => letter.toUpperCase())
  const rows = linked.map((one) => `- [${titleOf(one)}](${between(source, one)})${aboutOf(one)}`)
  return { text: `# ${heading}\n\n${rows.join('\n')}\n`, linked }
}

function aboutOf(source: string): string {
  const about = extname(source) === '.md' ? firstSentence(readFileSync(join(root, source), 'utf8')) : ''
  return about === '' ? '' : `: ${escaped(about)}`
}

function titleOf(source: string): string {
  if (extname(source) !== '.md') return basename(source)
  return /^# (.*)$/m.exec(readFileSync(join(root, source), 'utf8'))?.[1] ?? basename(source)
}

function markdownPage(source: string, text: string): SitePage {
  const linked: string[] = []
  const relinked = inProse(text, (prose) =>
    escaped(prose).replace(/\]\(([^)\s]+)\)/g, (whole, target: string) => {
      if (/^[a-z]+:/.test(target) || target.startsWith('#')) return whole
      const [path = '', heading] = target.split('#')
      const to = normalize(join(dirname(source), path)).replace(/\/$/, '')
      if (!existsSync(join(root, to))) return whole // VitePress reports it
      linked.push(to)
      return `](${between(source, to)}${heading === undefined ? '' : `#${heading}`})`
    }),
  )
  return { text: relinked, linked }
}

/** Changes the text outside of code blocks and code spans. */
function inProse(text: string, change: (prose: string) => string): string {
  return text
    .split(/(^```[\s\S]*?^```$|``[^\n]+?``|`[^`\n]+`)/gm)
    .map((part, nth) => (nth % 2 === 1 ? part : change(part)))
    .join('')
}

/** Escapes brackets and braces, because VitePress compiles each page as a Vue template. */
function escaped(prose: string): string {
  return prose
    .replace(/<!--[\s\S]*?-->\n?/g, '')
    .replace(/<(?!https?:)/g, '&lt;')
    .replaceAll('{{', '&#123;&#123;')
}

function isImage(source: string): boolean {
  return ['.png', '.svg'].includes(extname(source))
}

/** Returns the path on the site of a file or folder of the repository. */
function pageFor(source: string): string {
  if (source === 'README.md') return 'index.md'
  const isFolder = statSync(join(root, source)).isDirectory()
  const below = source.startsWith('docs/') ? source.slice('docs/'.length) : `files/${source}`
  if (isFolder) return `${below}/index.md`
  if (isImage(source)) return below
  return extname(below) === '.md' ? below : `${below}.md`
}

function between(from: string, to: string): string {
  const path = relative(dirname(pageFor(from)), pageFor(to))
  return path.startsWith('.') ? path : `./${path}`
}

function write(page: string, text: string): void {
  const file = join(pages, page)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
