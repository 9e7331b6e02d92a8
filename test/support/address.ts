// `repository` of the root's package.json is the URL of the repository. `node test/support/address.ts` writes derived
// fields into each published package.json. Before publishing, `--check` fails while it is missing
// or another package.json differs.
// Runs on Node's type stripping, so its syntax is erasable.
import { readFileSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

/** A published package, by its folder in the repository; the root is the empty one. */
export const folders = ['', 'packages/create-stuntdouble'] as const

const names = ['homepage', 'bugs', 'repository']

/**
 * Returns the fields of a package.json with the URL of the repository, or none if it is not decided.
 * @param address URL of the repository's page, such as `https://forge.test/owner/stuntdouble`; empty if not decided
 * @throws {TypeError} when it is not the URL of a page
 */
export function addressFields(address: string, folder: string): Readonly<Record<string, unknown>> {
  if (address === '') return {}
  if (!/^https:\/\/[\w.-]+(?:\/[\w.-]+)+$/.test(address) || address.endsWith('.git'))
    throw new TypeError(
      `The repository in package.json is the address of its page, such as https://forge.test/owner/name, without a slash at its end; it is ${JSON.stringify(address)}.`,
    )
  const directory = folder === '' ? {} : { directory: folder }
  return {
    homepage: `${address}${folder === '' ? '' : `/tree/main/${folder}`}#readme`,
    bugs: `${address}/issues`,
    repository: { type: 'git', url: `git+${address}.git`, ...directory },
  }
}

/** Returns the URL in the `repository` of a package.json; empty without one. */
export function addressOf(text: string): string {
  const { repository } = JSON.parse(text) as { repository?: { url: string } | string }
  const url = typeof repository === 'string' ? repository : (repository?.url ?? '')
  return url.replace(/^git\+/, '').replace(/\.git$/, '')
}

/** Returns the text of a package.json with these fields after its description, instead of its own. */
export function withAddress(text: string, address: string, folder: string): string {
  const fields = Object.entries(JSON.parse(text) as Record<string, unknown>).filter(([name]) => !names.includes(name))
  const at = fields.findIndex(([name]) => name === 'description') + 1
  const all = [...fields.slice(0, at), ...Object.entries(addressFields(address, folder)), ...fields.slice(at)]
  return `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`
}

/** Returns why these texts cannot be published, with the next step; empty when they can. */
export function refusal(address: string, manifests: Readonly<Record<string, string>>): string | undefined {
  if (address === '')
    return 'Nothing is published yet: write the address of the repository into package.json ("repository": "https://…"), then run node test/support/address.ts.'
  const stale = Object.entries(manifests).find(([folder, text]) => withAddress(text, address, folder) !== text)
  return (
    stale &&
    `${stale[0]}/package.json does not say what \`repository\` of package.json says: run node test/support/address.ts.`.replace(
      /^\//,
      '',
    )
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const root = new URL('../../', import.meta.url)
  const file = (folder: string): URL => new URL(`${folder === '' ? '' : `${folder}/`}package.json`, root)
  const manifests = Object.fromEntries(folders.map((folder) => [folder, readFileSync(file(folder), 'utf8')]))
  const repository = addressOf(manifests['']!)
  if (process.argv.includes('--check')) {
    const told = refusal(repository, manifests)
    if (told !== undefined) {
      console.error(told)
      process.exitCode = 1
    }
  } else {
    for (const [folder, text] of Object.entries(manifests))
      writeFileSync(file(folder), withAddress(text, repository, folder))
  }
}
