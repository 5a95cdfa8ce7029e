import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client'
import type { RequestContext } from '../kernel/log/index.ts'

/** The instance's Prometheus metrics. Labels are few: an endpoint is its declared path, never an address. */
export class Metrics {
  readonly registry = new Registry()
  readonly #requests: Histogram<'method' | 'endpoint' | 'status'>
  readonly #statements: Counter<'endpoint'>
  readonly #renders: Histogram<'language'>

  constructor() {
    collectDefaultMetrics({ register: this.registry })
    this.#requests = new Histogram({
      name: 'guildhall_http_request_duration_seconds',
      help: 'Time to answer, by endpoint',
      labelNames: ['method', 'endpoint', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers: [this.registry],
    })
    this.#statements = new Counter({
      name: 'guildhall_sql_statements_total',
      help: 'SQL statements sent, by endpoint',
      labelNames: ['endpoint'],
      registers: [this.registry],
    })
    this.#renders = new Histogram({
      name: 'guildhall_render_duration_seconds',
      help: 'Time to make HTML of a text, by language; texts that were kept are not rendered again',
      labelNames: ['language'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
      registers: [this.registry],
    })
  }

  observeRender(language: string, seconds: number): void {
    this.#renders.observe({ language }, seconds)
  }

  observe(context: RequestContext, method: string, status: number, seconds: number): void {
    const endpoint = context.endpoint ?? 'other'
    this.#requests.observe({ method, endpoint, status: String(status) }, seconds)
    if (context.sqlCount > 0) this.#statements.inc({ endpoint }, context.sqlCount)
  }
}
