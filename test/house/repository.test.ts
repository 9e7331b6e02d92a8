import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { repositoryFields, writeRepository } from '../support/repository.js'

const root = new URL('../..', import.meta.url).pathname
const manifests = ['package.json', 'packages/create-stuntdouble/package.json']

function copyWith(address: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'stuntdouble-repository-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  mkdirSync(join(copy, 'packages/create-stuntdouble'), { recursive: true })
  for (const path of manifests) cpSync(join(root, path), join(copy, path))
  writeFileSync(join(copy, 'repository.txt'), address)
  return copy
}
const manifestIn = (folder: string, path: string) => JSON.parse(readFileSync(join(folder, path), 'utf8'))

test.each(manifests)('%s says of its repository what repository.txt says, and asks before it is published', (path) => {
  const { repository, homepage, bugs, scripts } = manifestIn(root, path)
  const folder = path.replace(/\/?package\.json$/, '') || '.'
  const text = readFileSync(join(root, 'repository.txt'), 'utf8')
  expect({ repository, homepage, bugs }).toEqual(
    repositoryFields(text, folder) ?? { repository: undefined, homepage: undefined, bugs: undefined },
  )
  expect(scripts.prepublishOnly).toMatch(/^node (?:\.\.\/\.\.\/)?test\/support\/repository\.ts$/)
})

test('without an address nothing is published, and nothing changes', () => {
  const copy = copyWith('\n')
  expect(writeRepository(copy)).toMatch(/^Nothing is published while repository\.txt is empty: write the address/)
  for (const path of manifests) expect(manifestIn(copy, path)).toEqual(manifestIn(root, path))
})

test.each([
  'https://git.example/ada/stuntdouble',
  'https://git.example/ada/stuntdouble.git\n',
  'https://git.example/ada/stuntdouble/',
])('an address is put into each package: %j', (address) => {
  const copy = copyWith(address)
  expect(writeRepository(copy)).toBeUndefined()
  const fields = {
    repository: { type: 'git', url: 'git+https://git.example/ada/stuntdouble.git' },
    homepage: 'https://git.example/ada/stuntdouble#readme',
    bugs: { url: 'https://git.example/ada/stuntdouble/issues' },
  }
  expect(manifestIn(copy, 'package.json')).toEqual({ ...manifestIn(root, 'package.json'), ...fields })
  expect(manifestIn(copy, 'packages/create-stuntdouble/package.json')).toMatchObject({
    ...fields,
    repository: { ...fields.repository, directory: 'packages/create-stuntdouble' },
  })
})

test.each(['git@git.example:ada/stuntdouble', 'http://git.example/ada', 'stuntdouble', 'https://git.example'])(
  'what is no address is refused: %j',
  (address) => expect(() => writeRepository(copyWith(address))).toThrow(/it is an address such as/),
)
