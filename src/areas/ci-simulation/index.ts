import type { Endpoint } from '../../kernel/endpoint/index.ts'
import type { AddressServices, PipelineServices } from '../pipelines/index.ts'
import { simulationEndpoints } from './routes.ts'

export type SimulationServices = Pick<
  PipelineServices,
  'db' | 'cipher' | 'settings' | 'places' | 'remoteFiles' | 'refProtection' | keyof AddressServices
>

/** What a pipeline would be, and what a job would see, before there is either. */
export function ciSimulation(services: SimulationServices): { endpoints: Endpoint[] } {
  return { endpoints: simulationEndpoints(services) }
}
