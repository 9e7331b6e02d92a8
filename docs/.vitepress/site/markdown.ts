import type { MarkdownOptions } from 'vitepress'
import { highlight } from './highlight.ts'

/** How the site turns Markdown into HTML. */
export const markdown: MarkdownOptions = { anchor: { slugify }, highlight }

/** Gives headings the IDs that links in the repository use. */
function slugify(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}
