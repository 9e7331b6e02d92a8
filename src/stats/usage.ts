// The namespace `usage`: steps of usage scripts for the statistics.
export { counterReset, gap, latencies, monthEnd, spikeAt, steady } from './usage-steps.js'
