// `npm publish` asks here first: the address of the repository is written in one place, repository.txt, and put from
// there into the packages that are published. While the owner has not decided, it is empty, and nothing is published.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folders of what is published, and of the file. */
const folders = ['.', 'packages/create-stuntdouble']

/** What npm shows of a repository. */
export interface RepositoryFields {
  readonly repository: { readonly type: 'git'; readonly url: string; readonly directory?: string }
  readonly homepage: string
  readonly bugs: { readonly url: string }
}

/**
 * @param text of repository.txt: an address such as `https://git.example/owner/stuntdouble`, or nothing
 * @param folder of the package, below the repository
 * @returns `undefined` while there is no address
 * @throws Error for what is no such address
 */
export function repositoryFields(text: string, folder = '.'): RepositoryFields | undefined {
  const address = text.trim().replace(/(?:\.git)?\/*$/, '')
  if (address === '') return undefined
  if (!/^https:\/\/[\w.-]+\/\S+$/.test(address)) {
    throw new Error(
      `repository.txt has ${JSON.stringify(address)}; it is an address such as https://git.example/owner/stuntdouble.`,
    )
  }
  return {
    repository: { type: 'git', url: `git+${address}.git`, ...(folder !== '.' && { directory: folder }) },
    homepage: `${address}#readme`,
    bugs: { url: `${address}/issues` },
  }
}

/** Puts the fields into the packages below a folder. @returns a sentence where there is nothing to put */
export function writeRepository(root: string): string | undefined {
  const text = readFileSync(join(root, 'repository.txt'), 'utf8')
  for (const folder of folders) {
    const fields = repositoryFields(text, folder)
    if (fields === undefined) {
      return 'Nothing is published while repository.txt is empty: write the address of the repository into it, such as https://git.example/owner/stuntdouble.'
    }
    const path = join(root, folder, 'package.json')
    writeFileSync(path, `${JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...fields }, null, 2)}\n`)
  }
  return undefined
}

if (import.meta.main) {
  const problem = writeRepository(new URL('../..', import.meta.url).pathname)
  if (problem !== undefined) {
    console.error(problem)
    process.exitCode = 1
  }
}
