import { join } from 'node:path'

export const root: string = new URL('../../..', import.meta.url).pathname

/** Where the pages are put together before VitePress reads them. Everything below can be made again. */
export const work: string = join(root, '.cache/site')
export const pages: string = join(work, 'pages')
/** The finished site. */
export const built: string = join(root, 'dist-site')
