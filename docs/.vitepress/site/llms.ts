import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { sections, titleOf } from './navigation.ts'
import { built, root } from './places.ts'

/** For readers that are programs: `llms.txt` lists the pages, `llms-full.txt` has all guides; each page is there as Markdown. */
export function writeLlms(): void {
  const parts = ['# stuntdouble', '', `> ${promise()}`]
  const full: string[] = []
  for (const [section, places] of Object.entries(sections)) {
    parts.push('', `## ${section}`, '')
    for (const place of places) {
      const path = typeof place === 'string' ? place : place[0]
      const text = textOf(path)
      if (text === undefined) continue
      parts.push(`- [${titleOf(path)}](${process.env.SITE_BASE ?? '/'}${path}): ${firstSentence(text)}`)
      if (!['The protocol', 'Reference', 'Contributing'].includes(section)) full.push(text)
      mkdirSync(dirname(join(built, path)), { recursive: true })
      cpSync(join(root, 'docs', path), join(built, path))
    }
  }
  writeFileSync(join(built, 'llms.txt'), `${parts.join('\n')}\n`)
  writeFileSync(join(built, 'llms-full.txt'), full.join('\n\n'))
}

function promise(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { description: string }).description
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(join(root, 'docs', path), 'utf8')
  } catch {
    return undefined
  }
}

/** What a page is about: its first sentence of prose. */
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
