import { spawnSync } from 'node:child_process'
import { serveFolder } from './serve.ts'

const root = new URL('../..', import.meta.url).pathname

/** Where the site for the tests is: `npm run docs:site` without the reference of the JavaScript API. */
export const folder = `${root}.cache/site/tested`

/** Builds the site once; the tests find it at `SITE_ORIGIN`. With `SITE_IS_BUILT=1` the last build is good enough. */
export default async function buildAndServe(): Promise<() => Promise<void>> {
  if (process.env.SITE_IS_BUILT === undefined) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', 'docs/.vitepress/build.ts', '--for-tests'],
      { cwd: root, encoding: 'utf8' },
    )
    if (status !== 0) throw new Error(`The site was not built.\n${stdout}${stderr}`)
    const warnings = /\(!\).*|.*\bwarn(?:ing)?\b.*/i.exec(stdout + stderr)
    if (warnings !== null) throw new Error(`The build of the site warns: ${warnings[0]}`)
  }
  const site = await serveFolder(folder)
  process.env.SITE_ORIGIN = site.origin
  return async () => site[Symbol.asyncDispose]()
}
