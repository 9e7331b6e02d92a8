import { Redis } from '@upstash/redis'

// A page with many visitors, cached in memory.

const remembered = new Map<string, string>()

export async function page(name: string): Promise<string> {
  try {
    const text = (await Redis.fromEnv().get<string>(`page:${name}`)) ?? 'There is no such page.'
    remembered.set(name, text)
    return text
  } catch {
    return remembered.get(name) ?? 'We are back in a minute.'
  }
}
