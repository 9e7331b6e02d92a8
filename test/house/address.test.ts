import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { addressFields, addressOf, folders, refusal, withAddress } from '../support/address.js'

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const manifests = Object.fromEntries(
  folders.map((folder) => [folder, read(folder === '' ? 'package.json' : `${folder}/package.json`)]),
)
const repository = addressOf(manifests['']!)
const filled = 'https://forge.test/ada/double'

test('each package.json has the fields that follow from `repository` of the root', () => {
  for (const folder of folders) expect(withAddress(manifests[folder]!, repository, folder)).toBe(manifests[folder])
})

test('both packages have one version, and create-stuntdouble installs it', () => {
  const [own, create] = folders.map(
    (folder) => JSON.parse(manifests[folder]!) as { version: string; dependencies: Record<string, string> },
  )
  expect(create!.version).toBe(own!.version)
  expect(create!.dependencies).toEqual({ stuntdouble: `^${own!.version}` })
})

test('each package rejects publishing until its fields match', () => {
  for (const folder of folders) {
    const { scripts } = JSON.parse(manifests[folder]!) as { scripts: Record<string, string> }
    expect(scripts.prepublishOnly).toMatch(/^node (?:\.\.\/\.\.\/)?test\/support\/address\.ts --check$/)
  }
})

describe('an empty repository field', () => {
  test.each(folders)('leaves out the fields: %j', (folder) => {
    const fields = Object.keys(JSON.parse(withAddress(manifests[folder]!, '', folder)))
    expect(fields).not.toEqual(expect.arrayContaining(['repository']))
    expect(fields.filter((name) => /^(?:repository|homepage|bugs)$/.test(name))).toEqual([])
  })

  test('rejects publishing and names the field to set', () => {
    expect(refusal('', manifests)).toMatch(/package\.json.*node test\/support\/address\.ts/)
  })
})

describe('a repository field', () => {
  test.each(['https://forge.test/ada/double', { type: 'git', url: 'git+https://forge.test/ada/double.git' }])(
    'accepts each form: %j',
    (repository) => expect(addressOf(JSON.stringify({ repository }))).toBe(filled),
  )

  const written = Object.fromEntries(folders.map((folder) => [folder, withAddress(manifests[folder]!, filled, folder)]))

  test('sets the fields of each package with its folder', () => {
    expect(JSON.parse(written['']!)).toMatchObject({
      homepage: 'https://forge.test/ada/double#readme',
      bugs: 'https://forge.test/ada/double/issues',
      repository: { type: 'git', url: 'git+https://forge.test/ada/double.git' },
    })
    expect(JSON.parse(written['packages/create-stuntdouble']!)).toMatchObject({
      repository: { url: 'git+https://forge.test/ada/double.git', directory: 'packages/create-stuntdouble' },
    })
  })

  test('keeps all other fields, and removes its fields when it is emptied', () => {
    for (const folder of folders)
      expect(withAddress(written[folder]!, '', folder)).toBe(withAddress(manifests[folder]!, '', folder))
  })

  test('rejects publishing until the fields are written', () => {
    const without = Object.fromEntries(folders.map((folder) => [folder, withAddress(manifests[folder]!, '', folder)]))
    expect(refusal(filled, without)).toMatch(
      /^package\.json .*`repository` of package\.json.*node test\/support\/address\.ts/,
    )
    expect(
      refusal(filled, { ...written, 'packages/create-stuntdouble': without['packages/create-stuntdouble']! }),
    ).toMatch(/^packages\/create-stuntdouble\/package\.json/)
    expect(refusal(filled, written)).toBeUndefined()
  })
})

test.each(['forge.test/ada/double', 'git@forge.test:ada/double.git', `${filled}/`, `${filled}.git`, 'http://x', ' '])(
  'rejects %j, which is not a URL of a page',
  (address) => {
    expect(() => addressFields(address, '')).toThrow('without a slash at its end')
  },
)
