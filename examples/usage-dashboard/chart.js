// Draws one chart: a caption, single values, and the lines as SVG.

const [width, height, left, bottom, top] = [800, 220, 48, 24, 8]
const colours = ['#2563eb', '#16a34a', '#d97706', '#dc2626']
const svg = 'http://www.w3.org/2000/svg'

/**
 * @param {import('./figures.js').Chart} chart
 * @param {Document} document
 */
export function drawChart({ title, lines, facts }, document) {
  const figure = element(document, 'figure', { 'data-chart': title })
  const caption = element(document, 'figcaption')
  caption.textContent = title
  figure.append(caption, factList(facts, document), drawing(title, lines, document))
  return figure
}

function factList(facts, document) {
  const list = element(document, 'dl')
  for (const { name, value } of facts) {
    const [row, term, detail] = ['div', 'dt', 'dd'].map((tag) => element(document, tag))
    term.textContent = name
    detail.textContent = value
    row.append(term, detail)
    list.append(row)
  }
  return list
}

function drawing(title, lines, document) {
  const picture = shape(document, 'svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': title })
  const points = lines.flatMap((line) => line.points)
  const [from, until] = [Math.min(...points.map(({ at }) => at)), Math.max(...points.map(({ at }) => at))]
  const highest = Math.max(1, ...points.map(({ value }) => value))
  const x = (at) => left + ((at - from) / Math.max(1, until - from)) * (width - left - 8)
  const y = (value) => height - bottom - (value / highest) * (height - bottom - top)
  for (const value of [0, highest / 2, highest]) {
    picture.append(
      shape(document, 'line', { x1: left, x2: width - 8, y1: y(value), y2: y(value), stroke: '#e3e8ed' }),
      words(document, { x: left - 6, y: y(value) + 4, 'text-anchor': 'end' }, value.toLocaleString('en-US')),
    )
  }
  picture.append(
    words(document, { x: left, y: height - 6 }, clock(from)),
    words(document, { x: width - 8, y: height - 6, 'text-anchor': 'end' }, clock(until)),
  )
  for (const [index, line] of lines.entries()) picture.append(...drawLine(line, index, x, y, document))
  return picture
}

/** Draws a line with its name, and a tooltip for each value. */
function drawLine({ name, points }, index, x, y, document) {
  const stroke = colours[index % colours.length]
  const group = shape(document, 'g', { 'data-line': name })
  const path = points.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  group.append(shape(document, 'polyline', { points: path, fill: 'none', stroke, 'stroke-width': 1.5 }))
  for (const { at, value } of points) {
    const dot = shape(document, 'circle', {
      cx: x(at).toFixed(1),
      cy: y(value).toFixed(1),
      r: 2,
      fill: stroke,
      'data-at': at,
      'data-value': value,
    })
    const hint = shape(document, 'title')
    hint.textContent = `${clock(at)}  ${value.toLocaleString('en-US')} ${name}`
    dot.append(hint)
    group.append(dot)
  }
  const label = words(document, { x: left + 8 + index * 90, y: top + 10, style: `fill: ${stroke}` }, name)
  return [group, label]
}

function words(document, attributes, text) {
  const node = shape(document, 'text', attributes)
  node.textContent = text
  return node
}

function clock(at) {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ')
}

function shape(document, tag, attributes = {}) {
  return withAttributes(document.createElementNS(svg, tag), attributes)
}

function element(document, tag, attributes = {}) {
  return withAttributes(document.createElement(tag), attributes)
}

function withAttributes(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value))
  return node
}
