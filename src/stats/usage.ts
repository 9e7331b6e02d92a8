// The namespace `usage`: steps of a script about what the statistics report.
export { counterReset, gap, latencies, monthEnd, spikeAt, steady } from './usage-steps.js'
