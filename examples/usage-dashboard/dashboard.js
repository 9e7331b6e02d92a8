// The page: it fetches the data from its own server, which has the key, and draws the charts.
import { drawChart } from './chart.js'
import { readUsage } from './figures.js'

const source = { fetch: (url, init) => fetch(url, init), queue: 'usage/queue', search: 'usage/search' }
const period = document.querySelector('#period')
const main = document.querySelector('main')
const alert = document.querySelector('[role=alert]')

async function show() {
  main.setAttribute('aria-busy', 'true')
  try {
    const { queue, search } = await readUsage(source, period.value)
    main.replaceChildren(drawChart(queue, document), drawChart(search, document))
    alert.hidden = true
  } catch (error) {
    alert.textContent = `The usage could not be read. ${error.message}`
    alert.hidden = false
  }
  main.removeAttribute('aria-busy')
}

period.addEventListener('change', show)
await show()
