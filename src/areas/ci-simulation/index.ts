import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { PipelineServices } from '../pipelines/index.ts'
import { simulationEndpoints } from './routes.ts'

export type SimulationServices = Pick<
  PipelineServices,
  'db' | 'cipher' | 'settings' | 'places' | 'outbound' | 'externalUrl' | 'images' | 'refProtection'
>

/** What a pipeline would be, and what a job would see, before there is either. */
export function ciSimulation(services: SimulationServices): { endpoints: Endpoint[] } {
  return { endpoints: simulationEndpoints(services) }
}
