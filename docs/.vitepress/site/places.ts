import { join } from 'node:path'

export const root: string = new URL('../../..', import.meta.url).pathname

/** Folder of generated files, such as the pages that VitePress reads. */
export const work: string = join(root, '.cache/site')
export const pages: string = join(work, 'pages')
/** Whether to build the site for the browser tests. It has no JavaScript API, because that doubles the time of the build. */
export const isForTests: boolean = process.argv.includes('--for-tests')
/** Folder of the built site. */
export const built: string = isForTests ? join(work, 'tested') : join(root, 'dist-site')
