/** Why a site is not published: told to people beside the pipeline. */
export class DeployProblem extends Error {}
