// How well names tell a reader where things are: prints random lines of the sources, and the names of all files from
// which a reader who has seen nothing else guesses the folder and the file of each. Then scores the guesses. Runs on
// Node's type stripping, so its syntax is erasable.
//
//   node test/support/random-lines.ts lines 1 > lines.txt     the lines of seed 1
//   node test/support/random-lines.ts files > files.txt       the names of all files
//   node test/support/random-lines.ts score 1 guesses.txt     one path per line, in the order of the places
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const root = new URL('../..', import.meta.url).pathname
const folders = ['src', 'matchers', 'fixtures', 'packages']
const count = 20

interface Place {
  readonly file: string
  /** From 0. */
  readonly line: number
}

export function sourceFiles(): string[] {
  return folders
    .flatMap((folder) => readdirSync(join(root, folder), { withFileTypes: true, recursive: true }))
    .filter((entry) => entry.isFile() && /(?<!\.d)\.tsx?$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((file) => !/(?:^|\/)(?:node_modules|dist|test)\//.test(file))
    .sort()
}

function linesOf(file: string): string[] {
  return readFileSync(join(root, file), 'utf8').split('\n')
}

/** Returns whether a line can be drawn. Lines without words and imports are excluded. */
function isTelling(line: string): boolean {
  return /[a-z]{3}/i.test(line) && !/^(?:import |export .* from |\} from )/.test(line)
}

/** Draws places, equal for equal seeds and sources. */
export function drawn(seed: string, files: readonly string[] = sourceFiles()): Place[] {
  const places = files.flatMap((file) =>
    linesOf(file).flatMap((line, at) => (isTelling(line) ? [{ file, line: at }] : [])),
  )
  const found = new Map<string, Place>()
  for (let turn = 0; found.size < count; turn++) {
    const digest = createHash('sha256').update(`${seed}:${turn}`).digest()
    const place = places[digest.readUIntBE(0, 6) % places.length]!
    found.set(`${place.file}:${place.line}`, place)
  }
  return [...found.values()]
}

/** The lines with two lines around each, without the names of their files. */
export function shown(places: readonly Place[]): string {
  return places
    .map(({ file, line }, at) => {
      const lines = linesOf(file)
      const around = [line - 2, line - 1, line, line + 1, line + 2].filter((n) => n >= 0 && n < lines.length)
      const text = around.map((n) => `${n === line ? '>' : ' '} ${lines[n]}`)
      return [`── ${at + 1}`, ...text].join('\n')
    })
    .join('\n\n')
}

/** @param guessed a path for each place, its suffix left out or not; blank for no guess */
export function score(places: readonly Place[], guessed: readonly string[]): { folders: number; files: number } {
  const guesses = places.map((_, at) => (guessed[at] ?? '').trim().replace(/^\.?\//, ''))
  const named = (file: string): string => file.replace(/\.tsx?$/, '')
  return {
    folders: places.filter(({ file }, at) => dirname(guesses[at]!) === dirname(file)).length,
    files: places.filter(({ file }, at) => named(guesses[at]!) === named(file)).length,
  }
}

function run([order, ...given]: readonly string[]): string {
  const [seed = '1', answers = ''] = given
  if (order === 'files') return sourceFiles().join('\n')
  if (order === 'lines') return shown(drawn(seed))
  if (order !== 'score') return 'random-lines.ts lines SEED | files | score SEED ANSWERS'
  const places = drawn(seed)
  const guesses = readFileSync(answers, 'utf8').trimEnd().split('\n')
  const result = score(places, guesses)
  const rows = places.map(({ file, line }, at) => `${at + 1} ${file}:${line + 1}  guessed ${guesses[at] || 'nothing'}`)
  return [...rows, `folder right ${result.folders} of ${count}, file right ${result.files} of ${count}`].join('\n')
}

if (process.argv[1] === import.meta.filename) console.log(run(process.argv.slice(2)))
