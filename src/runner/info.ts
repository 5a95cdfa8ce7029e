import os from 'node:os'

/** What the shell executor really does; a server drops jobs that need more. */
const features = {
  variables: true,
  image: false,
  services: false,
  artifacts: true,
  cache: true,
  shared: true,
  upload_multiple_artifacts: true,
  upload_raw_artifacts: true,
  session: false,
  terminal: false,
  refspecs: true,
  masking: true,
  proxy: false,
  raw_variables: true,
  artifacts_exclude: true,
  multi_build_steps: true,
  trace_reset: true,
  trace_checksum: true,
  trace_size: true,
  vault_secrets: false,
  cancelable: true,
  cancel_gracefully: true,
  return_exit_code: true,
  service_variables: false,
  service_multiple_aliases: false,
  image_executor_opts: false,
  service_executor_opts: false,
  two_phase_job_commit: false,
  fallback_cache_keys: true,
  job_inputs: true,
  native_steps_integration: false,
}

export const runnerName = 'guildhall-runner'
export const architecture = { x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch

export function runnerInfo(version: string) {
  return {
    name: runnerName,
    version,
    revision: 'main',
    platform: os.platform() as string,
    architecture,
    executor: 'shell',
    shell: 'bash',
    features,
    config: {},
    labels: {},
  }
}

export function userAgent(version: string) {
  return `${runnerName} ${version} (main; node ${process.versions.node}; ${os.platform()}/${architecture})`
}
