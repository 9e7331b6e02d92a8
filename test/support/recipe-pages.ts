// The pages of docs/recipes show files of examples/recipes unchanged: `npm run docs` writes them.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const pages = new URL('../../docs/recipes/', import.meta.url)
const recipes = new URL('../../examples/recipes/', import.meta.url)

/** Names of all recipes: each is a folder of examples/recipes and a page of docs/recipes. */
export const recipeNames: readonly string[] = readdirSync(recipes, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

/** The page of a recipe, as it is written. */
export function recipePage(name: string): string {
  return readFileSync(new URL(`${name}.md`, pages), 'utf8')
}

/** A block after a paragraph that ends in the name of a file: `app.ts`: */
const shown = /(`([\w./[\]+-]+)`:\n\n)```(\w+)\n(?:(?!```).*\n)*```(?=\n)/g

/** The files that a page shows, in its order. */
export function shownFiles(page: string): string[] {
  return [...page.matchAll(shown)].map(([, , file]) => file!)
}

/** Returns the page with its files up to date. */
export function withFiles(name: string, page: string): string {
  return page.replace(shown, (_block, before: string, file: string, language: string) => {
    const text = readFileSync(new URL(`${name}/${file}`, recipes), 'utf8').trimEnd()
    return `${before}\`\`\`${language}\n${text}\n\`\`\``
  })
}

/** Files of a recipe that only this repository needs. A user's project has other ones, or none. */
const ours = ['package.json', 'package-lock.json', 'tsconfig.json', 'nightly.ts', 'vite.config.ts', 'src/app.html']

/** Returns the files of a recipe that its page must show. Output of builds is in folders that begin with a dot. */
export function filesOf(name: string): string[] {
  const folder = fileURLToPath(new URL(name, recipes))
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((file) => !ours.includes(file) && !/(^|\/)(\.(?!github)|node_modules\/|next-env)/.test(file))
}

/** Writes the files into all pages. */
export function writeRecipes(): void {
  for (const name of recipeNames) writeFileSync(new URL(`${name}.md`, pages), withFiles(name, recipePage(name)))
}
