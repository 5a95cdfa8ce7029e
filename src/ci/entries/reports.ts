/** Report types: how the runner sends the file, and what it is called when stored. */
const catalogue = {
  junit: ['gzip', 'junit.xml'],
  dotenv: ['gzip', '.env'],
  metrics: ['gzip', 'metrics.txt'],
  cyclonedx: ['gzip', 'gl-sbom.cdx.json'],
  annotations: ['gzip', 'gl-annotations.json'],
  repository_xray: ['gzip', 'gl-repository-xray.json'],
  cobertura: ['gzip', 'cobertura-coverage.xml'],
  jacoco: ['gzip', 'jacoco-coverage.xml'],
  lsif: ['zip', 'lsif.json'],
  scip: ['zip', 'index.scip'],
  accessibility: ['raw', 'gl-accessibility.json'],
  codequality: ['raw', 'gl-code-quality-report.json'],
  terraform: ['raw', 'tfplan.json'],
  performance: ['raw', 'performance.json'],
  browser_performance: ['raw', 'browser-performance.json'],
  load_performance: ['raw', 'load-performance.json'],
  requirements: ['raw', 'requirements.json'],
  requirements_v2: ['raw', 'requirements_v2.json'],
  coverage_fuzzing: ['raw', 'gl-coverage-fuzzing.json'],
  api_fuzzing: ['raw', 'gl-api-fuzzing-report.json'],
  sast: ['raw', 'gl-sast-report.json'],
  secret_detection: ['raw', 'gl-secret-detection-report.json'],
  dependency_scanning: ['raw', 'gl-dependency-scanning-report.json'],
  container_scanning: ['raw', 'gl-container-scanning-report.json'],
  cluster_image_scanning: ['raw', 'gl-cluster-image-scanning-report.json'],
  dast: ['raw', 'gl-dast-report.json'],
  license_scanning: ['raw', 'gl-license-scanning-report.json'],
} as const

export type ReportType = keyof typeof catalogue
export type ArtifactFormat = 'gzip' | 'zip' | 'raw'

/** The catalogue by type name. */
export const reportTypes: ReadonlyMap<string, { format: ArtifactFormat; fileName: string }> = new Map(
  Object.entries(catalogue).map(([type, [format, fileName]]) => [type, { format, fileName }]),
)
