import { join } from 'node:path'

export const root: string = new URL('../../..', import.meta.url).pathname

/** Where the pages are put together before VitePress reads them. Everything below can be made again. */
export const work: string = join(root, '.cache/site')
export const pages: string = join(work, 'pages')
/** Without the reference of the JavaScript API, which takes as long as half of the other pages: for the browser tests. */
export const isForTests: boolean = process.argv.includes('--for-tests')
/** The finished site. */
export const built: string = isForTests ? join(work, 'tested') : join(root, 'dist-site')
