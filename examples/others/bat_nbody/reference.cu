// Thread i computes component i % 4 of the position and the velocity of body i / 4. Component 3 of a position is the
// body's mass, and component 3 of a velocity is 0.
__global__ void reference(float dt, const float* bodies, const float*, const float*, const float*, const float*,
                          const float*, const float* velocities, const float*, const float*, const float*, const float*,
                          float damping, float softening, int n, double* position, double* velocity) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i / 4 >= n) return;
    const float* const body = bodies + i / 4 * 4;
    double acceleration = 0;
    for (int other = 0; other < n && i % 4 < 3; ++other) {
        double square = softening;
        for (int k = 0; k < 3; ++k)
            square += ((double)bodies[4 * other + k] - body[k]) * ((double)bodies[4 * other + k] - body[k]);
        acceleration +=
            bodies[4 * other + 3] * ((double)bodies[4 * other + i % 4] - body[i % 4]) / (square * sqrt(square));
    }
    position[i] =
        i % 4 == 3 ? body[3] : body[i % 4] + (double)dt * velocities[i] + (double)damping * dt * dt * acceleration;
    velocity[i] = i % 4 == 3 ? 0 : velocities[i] + dt * acceleration;
}
