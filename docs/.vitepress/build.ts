// `npm run docs:site` builds the site into dist-site/; `npm run docs:dev` serves it while you write.
import { build, createServer } from 'vitepress'
import { assemble } from './site/assemble.ts'

const docs = new URL('..', import.meta.url).pathname

assemble()
if (process.argv.includes('--serve')) {
  const server = await createServer(docs)
  await server.listen()
  server.printUrls()
} else {
  await build(docs)
}
