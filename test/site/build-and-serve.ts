import { spawnSync } from 'node:child_process'
import { serveFolder } from './serve.ts'

const root = new URL('../..', import.meta.url).pathname

/** Folder of the site for the tests: `npm run docs:site` without the reference of the JavaScript API. */
export const folder = `${root}.cache/site/tested`

/**
 * Builds and serves the site once. Its origin is in `SITE_ORIGIN`. `SITE_IS_BUILT=1` skips the build and uses the last
 * one.
 */
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
