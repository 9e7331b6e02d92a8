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
      const about = firstSentence(text)
      const link = `[${titleOf(path)}](${process.env.SITE_BASE ?? '/'}${path})`
      parts.push(about === '' ? `- ${link}` : `- ${link}: ${about}`)
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

/** Returns the prose of a page up to the first full stop, which describes the page; empty if it has none. */
export function firstSentence(page: string): string {
  const paragraph = page
    .replace(/<!--[\s\S]*?-->|^```[\s\S]*?^```$/gm, '')
    // A label such as "**Decision.**" begins a paragraph.
    .replace(/^\*\*[^*\n]+\.\*\* /gm, '')
    .split(/\n\n+/)
    .find((part) => /^(?!Generated )[A-Z`]/.test(part.trim()))
  const plain = (paragraph ?? '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('\n', ' ')
    .trim()
  if (plain === '') return ''
  return /^.*?[.!?](?= |$)/.exec(plain)?.[0] ?? plain.replace(/:?$/, '.')
}
