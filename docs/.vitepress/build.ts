// `npm run docs:site` builds the site into dist-site/. `npm run docs:site -- --serve` serves the pages and shows changes.
import { join } from 'node:path'
import { build, createServer } from 'vitepress'
import { writeApi } from './site/api.ts'
import { assemble } from './site/assemble.ts'
import { bundleCore } from './site/bundle.ts'
import { writeHome } from './site/home.ts'
import { writeLlms } from './site/llms.ts'
import { isForTests, pages } from './site/places.ts'

const docs = new URL('..', import.meta.url).pathname

assemble()
if (!isForTests) await writeApi()
const core = join(pages, 'public/playground/core.js')
await bundleCore(core)
await writeHome(core)
if (process.argv.includes('--serve')) {
  const server = await createServer(docs)
  await server.listen()
  server.printUrls()
} else {
  await build(docs)
  writeLlms()
}
