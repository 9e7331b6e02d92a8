// Builds the page of the inspector. The script and the style are written as texts into modules in
// `packages/inspector/page`, from which other code imports them. Runs on Node's type stripping.
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Plugin } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const built = join(root, 'packages/inspector/page')
const editorSource = 'packages/inspector/src/panels/code-editor.ts'

const common: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  write: false,
  minify: true,
  outdir: 'nowhere',
  format: 'iife',
  platform: 'browser',
  target: ['es2022', 'safari16'],
  // ASCII output contains no control characters, so it can be printed on a terminal.
  charset: 'ascii',
  legalComments: 'none',
  logLevel: 'warning',
  jsx: 'automatic',
  jsxImportSource: 'preact',
}

/** Builds the editor as a separate script, which the page loads when a text is edited. */
const editorApart: Plugin = {
  name: 'editor-apart',
  setup({ onResolve }) {
    onResolve({ filter: /\/code-editor\.js$/ }, () => ({ path: join(root, 'packages/inspector/src/editor-loader.ts') }))
    onResolve({ filter: /\/copy\/copy-forms\.js$/ }, () => ({
      path: join(root, 'packages/inspector/src/copy-loader.ts'),
    }))
  },
}

/** Builds the modules if a source file is newer than they are. */
export async function buildInspector({ always = false }: { always?: boolean } = {}): Promise<void> {
  const files = [join(built, 'page-text.js'), join(built, 'editor-text.js')]
  if (!always && files.every((file) => existsSync(file)) && Math.min(...files.map(changedAt)) > lastChange()) return
  const [page, editor] = await Promise.all([builtPage(), builtEditor()])
  mkdirSync(built, { recursive: true })
  writeFileSync(files[0]!, moduleOf(page))
  writeFileSync(files[1]!, moduleOf(editor))
}

async function builtPage(): Promise<Record<string, string>> {
  const { outputFiles } = await build({
    ...common,
    entryPoints: { page: 'packages/inspector/src/main.tsx' },
    plugins: [editorApart],
  })
  const textOf = (suffix: string): string => outputFiles!.find(({ path }) => path.endsWith(suffix))?.text.trim() ?? ''
  const [pageScript, pageStyle] = [textOf('.js'), textOf('.css')]
  // HTML does not escape the text of a script or a style, so the text must not contain the closing tag.
  if (/<\/script|<!--/i.test(pageScript) || /<\/style|@import/i.test(pageStyle)) {
    throw new Error('The script or the style of the inspector contains its own closing tag. Split the text.')
  }
  const copyScript = await builtCopy()
  const hashes = { scriptHash: hashOf(pageScript), styleHash: hashOf(pageStyle), copyHash: hashOf(copyScript) }
  return { pageScript, pageStyle, copyScript, ...hashes }
}

/**
 * Builds the copy forms as a separate script for a recording. A recording has no server from which it could load them.
 */
async function builtCopy(): Promise<string> {
  const entryPoints = { copy: 'src/report/copy/copy-forms.ts' }
  const { outputFiles } = await build({ ...common, entryPoints, globalName: 'stuntdoubleCopy' })
  const text = outputFiles![0]!.text.trim()
  if (/<\/script|<!--/i.test(text))
    throw new Error(
      'The script of the inspector that copies entries contains a closing script tag. Split this tag in the source.',
    )
  return text
}

async function builtEditor(): Promise<Record<string, string>> {
  if (!existsSync(join(root, editorSource))) return { editorScript: '' }
  const { outputFiles } = await build({
    ...common,
    stdin: {
      contents: `export * from './${editorSource}'\nexport * from './src/report/copy/copy-forms.ts'`,
      resolveDir: root,
      loader: 'ts',
    },
    globalName: 'stuntdoubleEditor',
  })
  return { editorScript: outputFiles![0]!.text.trim() }
}

/** Returns the hash in the format of a content-security policy. */
function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

function moduleOf(texts: Record<string, string>): string {
  return Object.entries(texts)
    .map(([name, text]) => `export const ${name} = ${JSON.stringify(text)}\n`)
    .join('')
}

/** Returns the time of the last change in the sources of the page and in the tools that build it. */
function lastChange(): number {
  const files = ['packages/inspector/src', 'src/kernel', 'src/report'].flatMap((folder) =>
    readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile() && !/page\/\w+-text\.js$/.test(join(entry.parentPath, entry.name)))
      .map((entry) => join(entry.parentPath, entry.name)),
  )
  return Math.max(...[...files, join(root, 'package-lock.json'), fileURLToPath(import.meta.url)].map(changedAt))
}

function changedAt(file: string): number {
  return statSync(file).mtimeMs
}

/** Vitest runs this as a setup file before the tests. */
export default async function setup(): Promise<void> {
  await buildInspector()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildInspector({ always: true })
  const { gzipSync } = await import('node:zlib')
  for (const name of ['page-text.js', 'editor-text.js']) {
    const text = readFileSync(join(built, name))
    console.log(`${name}: ${text.length} bytes, ${gzipSync(text, { level: 9 }).length} compressed`)
  }
}
