import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sections, titleOf } from './navigation.ts'
import { built, root } from './places.ts'

/** Sections whose pages are only in `llms.txt`. */
const listedOnly = ['The protocol', 'Reference', 'Contributing', 'Decisions']

/**
 * Writes the files for programs that read the site: `llms.txt` lists the pages, `llms-full.txt` contains all guides, and
 * each page is a Markdown file.
 */
export function writeLlms(): void {
  const parts = ['# stuntdouble', '', `> ${description()}`]
  const full: string[] = []
  for (const [section, places] of Object.entries(sections)) {
    parts.push('', `## ${section}`, '')
    for (const place of places) {
      const path = typeof place === 'string' ? place : place[0]
      const text = textOf(path)
      if (text === undefined) continue
      parts.push(`- [${titleOf(path)}](${process.env.SITE_BASE ?? '/'}${path}): ${firstSentence(text)}`)
      if (!listedOnly.includes(section)) full.push(text)
      mkdirSync(dirname(join(built, path)), { recursive: true })
      cpSync(join(root, 'docs', path), join(built, path))
    }
  }
  writeFileSync(join(built, 'llms.txt'), `${parts.join('\n')}\n`)
  writeFileSync(join(built, 'llms-full.txt'), full.join('\n\n'))
}

function description(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { description: string }).description
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(join(root, 'docs', path), 'utf8')
  } catch {
    return undefined
  }
}

/** Returns the first sentence of a page's prose, which describes the page. */
export function firstSentence(page: string): string {
  const paragraph = page
    .replace(/<!--[\s\S]*?-->|^```[\s\S]*?^```$/gm, '')
    .split(/\n\n+/)
    .find((part) => /^(?!Generated )[A-Z`]/.test(part.trim()))
  const plain = (paragraph ?? '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('\n', ' ')
    .trim()
  return /^.*?[.!?](?= |$)/.exec(plain)?.[0] ?? plain.replace(/:?$/, '.')
}
