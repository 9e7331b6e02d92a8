/**
 * The skeleton of a raw reply, RESP2 or RESP3: its types and lengths without what is in it. `%[$ :]` is a map of a
 * string and an integer, `*[,]` a list of one double.
 * @returns the skeleton and where the reply ends; `undefined` while bytes are missing
 */
export function skeletonOf(raw: string, at = 0): { readonly skeleton: string; readonly end: number } | undefined {
  const line = raw.indexOf('\r\n', at)
  if (line < 0) return undefined
  const sign = raw[at]!
  const size = Number(raw.slice(at + 1, line))
  let end = line + 2
  if (sign === '$' || sign === '=') {
    if (size < 0) return { skeleton: '_', end }
    end += size + 2
    return end <= raw.length ? { skeleton: sign, end } : undefined
  }
  if (!'*%~>'.includes(sign)) return { skeleton: sign, end }
  if (size < 0) return { skeleton: '_', end }
  const items: string[] = []
  for (let left = sign === '%' ? size * 2 : size; left > 0; left--) {
    const item = skeletonOf(raw, end)
    if (item === undefined) return undefined
    items.push(item.skeleton)
    end = item.end
  }
  return { skeleton: `${sign}[${items.join(' ')}]`, end }
}
