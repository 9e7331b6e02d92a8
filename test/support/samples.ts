import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// A page shows files of examples/guides, and failures of case studies, unchanged: the block below a comment with the name
// of a file is that file.

const root = new URL('../..', import.meta.url).pathname
const sample = /(<!-- (examples\/(?:guides\/[\w.-]+|case-studies\/[\w-]+\/failure\.txt)) -->\n+```\w+\n).*?(^```$)/gms

/** Files that pages can show, relative to the repository. */
export const sampleFiles: readonly string[] = globSync('examples/guides/*.{test.ts,txt}', { cwd: root }).sort()

/** The pages of the repository that can show a sample. */
export const samplePages: readonly string[] = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].sort()

/** Returns the files that a page shows. */
export function samplesOf(page: string): string[] {
  return [...page.matchAll(sample)].map(([, , file = '']) => file)
}

/** Returns a page with the present text of each file that it shows. */
export function withSamples(page: string): string {
  return page.replace(sample, (_, start: string, file: string, end: string) => {
    return `${start}${readFileSync(join(root, file), 'utf8')}${end}`
  })
}
