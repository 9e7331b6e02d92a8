import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { type Item, ItemSet, oneLine } from './items.js'
import { readMdx } from './read-mdx.js'
import { isOpenApi, readOpenApi } from './read-openapi.js'
import type { Extract } from './read-package.js'

/** A folder of documents that cannot be read. */
export class DocumentsError extends Error {
  override name = 'DocumentsError'
}

/** Limits for a folder of documents. */
export const documentLimits = { maxFiles: 20_000, maxFileBytes: 5_000_000, maxBytes: 100_000_000 }

/**
 * Reads all OpenAPI and MDX files of a folder. Links and hidden folders are not followed.
 * @throws DocumentsError if the folder does not exist, exceeds a limit or contains an OpenAPI file that cannot be parsed
 */
export function readDocuments(directory: string): Extract {
  if (!lstatSync(directory, { throwIfNoEntry: false })?.isDirectory())
    throw new DocumentsError(`${JSON.stringify(directory)} is not a folder`)
  const found = new ItemSet()
  let bytes = 0
  for (const path of filesIn(directory)) {
    const full = join(directory, path)
    const { size } = lstatSync(full)
    bytes += size
    if (size > documentLimits.maxFileBytes)
      throw new DocumentsError(`${path} has more than ${documentLimits.maxFileBytes} bytes`)
    if (bytes > documentLimits.maxBytes)
      throw new DocumentsError(`the documents have more than ${documentLimits.maxBytes} bytes`)
    const text = readFileSync(full, 'utf8')
    if (/\.mdx?$/.test(path)) found.addAll(readMdx(path, text))
    else if (isOpenApi(text)) found.addAll(openApi(path, text))
  }
  return { name: 'documents', version: '', items: found.list() }
}

function openApi(path: string, text: string): Item[] {
  try {
    return readOpenApi(path, text)
  } catch (error) {
    throw new DocumentsError(`${path} cannot be parsed: ${oneLine((error as Error).message)}`)
  }
}

/** Returns the paths of all files that may be documents, sorted. */
function filesIn(directory: string): string[] {
  const paths: string[] = []
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort(byName)) {
      if (entry.name.startsWith('.') || entry.name === 'node_modules') continue
      const path = join(folder, entry.name)
      if (entry.isDirectory()) visit(path)
      else if (entry.isFile() && /\.(?:mdx?|ya?ml|json)$/.test(entry.name)) {
        paths.push(relative(directory, path).split(sep).join('/'))
        if (paths.length > documentLimits.maxFiles)
          throw new DocumentsError(`the folder has more than ${documentLimits.maxFiles} documents`)
      }
    }
  }
  visit(directory)
  return paths
}

function byName(one: Dirent, other: Dirent): number {
  return one.name < other.name ? -1 : 1
}
