/** Exchanges the code of a link to the inspector for the token, as its page does. */
export async function tokenOf(link: string): Promise<string> {
  const { origin, hash } = new URL(link)
  const code = new URLSearchParams(hash.slice(1)).get('code')
  const answer = await fetch(`${origin}/_inspector/token`, {
    method: 'POST',
    headers: { authorization: `Bearer ${code}`, origin },
  })
  if (!answer.ok) throw new Error(`The code was refused: ${await answer.text()}`)
  return ((await answer.json()) as { token: string }).token
}
